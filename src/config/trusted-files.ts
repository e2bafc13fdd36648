/** What the command line would read, for a host that wants the same: files that were found count only once they are trusted. */
import { defaultStoreFolder } from '../storage/default-folder.ts'
import { fileStore } from '../storage/file-store.ts'
import { discoverConfig as find } from './discover.ts'
import type { ConfigFile } from './load.ts'
import { assertTrusted } from './trust.ts'

/** The user's file and those found from `cwd` upwards, weakest first, for `config` of a runtime. Throws CONFIG_UNTRUSTED where one was not trusted with `tapline trust`. */
export async function discoverConfig(cwd: string = process.cwd()): Promise<readonly ConfigFile[]> {
  return assertTrusted(fileStore(defaultStoreFolder(process.env)), await find(cwd, process.env))
}
