/** Which addresses the name of one server may lead to, checked whenever a connection is made. */
import { lookup as systemLookup } from 'node:dns'
import type { LookupAddress, LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type ipaddr from 'ipaddr.js'

/** Where an address lies. `never`: nothing that a server could have (link-local with the metadata of clouds, multicast …). */
export type Place = 'public' | 'private' | 'loopback' | 'never'
type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

const PLACES: Readonly<Record<string, Place>> = {
  unicast: 'public',
  loopback: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
  benchmarking: 'private',
}
/** Nearest to the public first: of several kinds of addresses the first one counts. */
const ORDER: readonly Place[] = ['public', 'private', 'loopback']

/** A name that leads where its server is not. */
class RefusedAddress extends Error {
  readonly code = 'TAPLINE_REFUSED_ADDRESS'
}

/** The kind of an address, also of one that carries an IPv4 address. */
export function placeOf(address: string, library: typeof ipaddr): Place {
  if (!library.isValid(address)) return 'never'
  const parsed = library.process(address)
  const range = parsed.range()
  // NAT64: the last four bytes say where it leads
  if (range === 'rfc6052') return placeOf(parsed.toByteArray().slice(-4).join('.'), library)
  return PLACES[range] ?? 'never'
}

/**
 * Looks names up and leaves out what they must not lead to. A name may always lead to public addresses. To private or loopback ones it may
 * lead only where that is where it led when it was first looked up: then the server itself is there. `localhost` is always loopback.
 */
export class AddressGuard {
  readonly #ipaddr: typeof ipaddr
  readonly #resolve: Resolve
  #home: Place | null = null

  constructor(library: typeof ipaddr, resolve: Resolve = systemLookup) {
    this.#ipaddr = library
    this.#resolve = resolve
  }

  /** For `net.connect`, which asks for names only: an address in the URL is the server itself. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const allowed = this.#allowed(hostname, addresses)
      const [first] = allowed
      if (!first) return callback(new RefusedAddress(this.#refusal(hostname, addresses)), [])
      if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
  }

  #allowed(hostname: string, addresses: readonly LookupAddress[]): LookupAddress[] {
    const placed = addresses.map((one) => ({ one, place: placeOf(one.address, this.#ipaddr) }))
    const local = /^(?:.+\.)?localhost\.?$/i.test(hostname)
    if (!local) this.#home ??= ORDER.find((place) => placed.some((entry) => entry.place === place)) ?? null
    const home = local ? 'loopback' : this.#home
    return placed.filter(({ place }) => (place === 'public' && !local) || place === home).map(({ one }) => one)
  }

  #refusal(hostname: string, addresses: readonly LookupAddress[]): string {
    const [first] = addresses
    if (!first) return `${hostname} has no address`
    const place = placeOf(first.address, this.#ipaddr)
    return place === 'never'
      ? `${hostname} leads to ${first.address}, where no server can be`
      : `${hostname} leads to the ${place} address ${first.address}, where its server was not before`
  }
}
