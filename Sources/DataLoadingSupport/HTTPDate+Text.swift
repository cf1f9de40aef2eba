// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension HTTPDate {
    /// The preferred form of the date that is so many seconds after 1970.
    package static func text(secondsSince1970 seconds: Int64) -> String {
        let date = CivilDate(secondsSince1970: seconds)
        // 1970 began on a Thursday.
        let day = (date.secondsSince1970 - date.secondOfDay) / 86_400 + 3
        let name = days[Int((day % 7 + 7) % 7)]
        let month = months[Int(date.month - 1)]
        let (minutes, second) = date.secondOfDay.quotientAndRemainder(dividingBy: 60)
        let time = [minutes / 60, minutes % 60, second].map { padded($0, 2) }
        return "\(name), \(padded(date.day, 2)) \(month) \(padded(date.year, 4)) "
            + time.joined(separator: ":") + " GMT"
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
