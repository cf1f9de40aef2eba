// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

exit(await Program.run(Array(CommandLine.arguments.dropFirst())))
