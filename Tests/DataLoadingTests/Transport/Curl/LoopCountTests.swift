// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    import DataLoadingTransport
    import Testing

    @Suite struct LoopCountTests {
        @Test(
            arguments: [
                (1, nil, 1), (7, nil, 1), (8, nil, 2), (64, nil, 16), (1_024, nil, 64), (64, 2, 1),
                (64, 8.5, 2), (4, 64, 1), (0, nil, 1),
            ] as [(Int, Double?, Int)])
        func `there is a loop for every four cores that may be used`(
            cores: Int, quota: Double?, expected: Int
        ) {
            #expect(LoopCount.usual(cores: cores, quota: quota) == expected)
            #expect(LoopCount.range.contains(LoopCount.usual))
        }

        @Test func `the least quota of a group and those around it counts`() {
            let files = [
                "/proc/self/cgroup": "1:name=systemd:/x\n0::/pods/one\n",
                "/sys/fs/cgroup/pods/one/cpu.max": "max 100000\n",
                "/sys/fs/cgroup/pods/cpu.max": "250000 100000\n",
                "/sys/fs/cgroup/cpu.max": "800000 100000\n",
            ]
            #expect(CoreQuota.find { files[$0] } == 2.5)
        }

        @Test(arguments: [
            "max 100000\n", "", "100000", "0 100000", "-1 100000", "1 0", "a b", "1 2 3",
        ])
        func `what is no quota limits nothing`(text: String) {
            let files = ["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": text]
            #expect(CoreQuota.find { files[$0] } == nil)
        }

        @Test func `without control groups there is no quota`() {
            #expect(CoreQuota.find { _ in nil } == nil)
            #expect(CoreQuota.find { _ in "3:cpu:/\n" } == nil)
        }
    }
#endif
