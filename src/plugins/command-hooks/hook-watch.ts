/** One watchdog for the command hooks of all sessions of this process, there as long as one of them is open. */
import type { ProcessWatch } from '../../connections/executor.ts'
import { Watchdog } from '../../connections/watchdog.ts'

let watchdog: Watchdog | null = null
let users = 0

/** For one session; close it when the session has ended. */
export class HookWatch implements ProcessWatch {
  #watchdog: Watchdog | null = null

  add(group: number): void {
    if (this.#watchdog === null) {
      users++
      this.#watchdog = watchdog ??= new Watchdog()
    }
    this.#watchdog.add(group)
  }

  delete(group: number): void {
    this.#watchdog?.delete(group)
  }

  async close(): Promise<void> {
    const mine = this.#watchdog
    this.#watchdog = null
    if (mine === null || --users > 0) return
    watchdog = null
    await mine.close()
  }
}
