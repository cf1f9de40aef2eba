// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A date and time of the Gregorian calendar in UTC, without a calendar object or a locale.
///
/// Dates compare field by field in the order of declaration. Days are counted in eras of 400 years
/// that start in March, so that the leap day comes last (Howard Hinnant, "chrono-compatible
/// low-level date algorithms").
package struct CivilDate: Hashable, Sendable {
    package var year: Int64
    /// 1 to 12.
    package let month: Int64
    /// 1 to 31.
    package let day: Int64
    /// Seconds from midnight; 86,400 in a leap second, which equals the next day's second 0.
    package let secondOfDay: Int64

    /// Makes a date; nil when the day or the time does not exist.
    package init?(
        year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64
    ) {
        guard (0...9_999).contains(year), (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        secondOfDay = hour * 3_600 + minute * 60 + second
    }

    /// Makes a date from seconds since 1970, clamped to the years 0 to 9999.
    package init(secondsSince1970: Int64) {
        let seconds = min(max(secondsSince1970, -62_167_219_200), 253_402_300_799)
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        secondOfDay = seconds - days * 86_400
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of seconds since 1970, without leap seconds.
    package var secondsSince1970: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era * 146_097 + dayOfEra - 719_468) * 86_400 + secondOfDay
    }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
