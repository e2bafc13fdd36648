/** Flags from OpenFeature: a client of the host, or a provider under a domain of ours. */
import type { Client, Provider } from '@openfeature/server-sdk'
import { randomUUID } from 'node:crypto'
import { TaplineError, messageOf } from '../errors.ts'
import { ChangeListeners } from './evaluator.ts'
import type { FlagAnswer, FlagEvaluator } from './evaluator.ts'
import type { Flag, FlagValue } from './flag.ts'
import { isOpenFeatureClient } from './openfeature.ts'
import type { EvaluationContext, OpenFeatureClient, OpenFeatureProvider } from './openfeature.ts'

/** Names that are free again: the API of OpenFeature never forgets a domain, so a name is used once more. */
const freeDomains: string[] = []

/** Loads the server SDK for a provider, starts it without waiting for it, and never touches the default provider of the process. */
export async function openClient(given: OpenFeatureProvider | OpenFeatureClient): Promise<FlagEvaluator> {
  if (isOpenFeatureClient(given)) return new ClientEvaluator(given as Client, () => {})
  const { OpenFeature, NOOP_PROVIDER } = await import('@openfeature/server-sdk')
  const domain = freeDomains.pop() ?? `tapline-${randomUUID()}`
  const client = OpenFeature.getClient(domain)
  // what goes wrong is in the answers and is reported from there; the default logger would print it
  const silent = (): void => {}
  client.setLogger({ error: silent, warn: silent, info: silent, debug: silent })
  let refusal: unknown = null
  const started = OpenFeature.setProviderAndWait(domain, given as Provider).catch((error: unknown) => void (refusal = error))
  // it is bound before anything is waited for, or never: an unbound domain would answer from the default provider of the process
  if (OpenFeature.getProvider(domain) !== given) {
    await started
    freeDomains.push(domain)
    throw refused(refusal)
  }
  return new ClientEvaluator(client, () => {
    // shuts the provider down, unless the host has it in use elsewhere
    OpenFeature.setProviderAndWait(domain, NOOP_PROVIDER).catch(() => {})
    freeDomains.push(domain)
  })
}

function refused(cause: unknown): TaplineError {
  return new TaplineError('CALL_INVALID_REQUEST', `OpenFeature does not take the provider of flags: ${messageOf(cause)}`, {
    cause,
    remedy:
      'Give a provider for servers that is bound nowhere else where it is made for one domain, or the client of OpenFeature that has it.',
  })
}

const NOT_READY = 'NOT_READY' as Client['providerStatus']
const READY = 'PROVIDER_READY' as Parameters<Client['addHandler']>[0]
const FAILED = 'PROVIDER_ERROR' as typeof READY
const CHANGED = 'PROVIDER_CONFIGURATION_CHANGED' as typeof READY

class ClientEvaluator implements FlagEvaluator {
  readonly #client: Client
  readonly #release: () => void
  readonly #listeners = new ChangeListeners()
  #ready: Promise<void> | null = null
  #wake = (): void => {}
  readonly #changed = (): void => this.#listeners.tell()

  constructor(client: Client, release: () => void) {
    this.#client = client
    this.#release = release
    client.addHandler?.(CHANGED, this.#changed)
  }

  ready(): Promise<void> | null {
    if (this.#client.providerStatus !== NOT_READY || this.#client.addHandler === undefined) return null
    // one for all who wait: a provider that is never ready must not gather handlers
    this.#ready ??= new Promise((resolve) => {
      this.#wake = () => {
        for (const event of [READY, FAILED]) this.#client.removeHandler(event, this.#wake)
        resolve()
      }
      for (const event of [READY, FAILED]) this.#client.addHandler(event, this.#wake)
    })
    return this.#ready
  }

  evaluate(flag: Flag, fallback: FlagValue, context: EvaluationContext): Promise<FlagAnswer> {
    const own = context as Parameters<Client['getBooleanDetails']>[2]
    if (typeof fallback === 'boolean') return this.#client.getBooleanDetails(flag.name, fallback, own)
    if (typeof fallback === 'number') return this.#client.getNumberDetails(flag.name, fallback, own)
    return this.#client.getStringDetails(flag.name, fallback, own)
  }

  onChange(listener: () => void): Disposable {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    this.#client.removeHandler?.(CHANGED, this.#changed)
    this.#wake()
    this.#release()
  }
}
