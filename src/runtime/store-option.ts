/** The store of a runtime: that of its host, else the folder that the options or a file name, else the one of the user. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { TaplineError } from '../errors.ts'
import { areaStores } from '../storage/area-stores.ts'
import { defaultStoreFolder } from '../storage/default-folder.ts'
import { fileStore } from '../storage/file-store.ts'
import type { Store, StoreArea } from '../storage/store.ts'
import { STORE_AREAS } from '../storage/store.ts'
import { unknownKey } from './unknown-key.ts'

/** A folder, one store for everything, or a store for some areas (the others stay where they would be without it). */
export type StoreOption = { readonly file: string } | Store | { readonly [A in StoreArea]?: Store }

/** A store, and whether the runtime closes it: what a host brings stays open. */
export interface RuntimeStore {
  readonly store: Store
  readonly close: () => Promise<void>
}

/** Makes nothing on disk; `folder` is that of the configuration files. Throws CALL_INVALID_REQUEST for an option that is none of the three. */
export function runtimeStore(option: StoreOption | undefined, folder: string | null): RuntimeStore {
  if (option !== undefined && (typeof option !== 'object' || option === null)) throw wrong('store must be an object')
  if (isStore(option)) return { store: option, close: async () => {} }
  const named = option !== undefined && 'file' in option ? folderOf(option) : folder
  const files = fileStore(named ?? defaultStoreFolder(process.env))
  const store = option === undefined || 'file' in option ? files : areaStores(areasOf(option), files)
  return { store, close: () => store.close() }
}

function folderOf(option: { readonly file: string }): string {
  const { file } = option
  const unknown = unknownKey('store', option, ['file'])
  if (unknown !== null) throw wrong(unknown)
  if (typeof file !== 'string' || file === '') throw wrong('store.file must be the folder of the store')
  return /^~(?=$|[\\/])/.test(file) ? join(process.env['HOME'] || homedir(), file.slice(1)) : resolve(file)
}

function areasOf(option: { readonly [A in StoreArea]?: Store }): { readonly [A in StoreArea]?: Store } {
  const unknown = unknownKey('store', option, STORE_AREAS)
  if (unknown !== null) throw wrong(unknown)
  for (const [area, store] of Object.entries(option)) if (!isStore(store)) throw wrong(`store.${area} is no store: it lacks a method`)
  return option
}

function isStore(value: unknown): value is Store {
  const methods = ['get', 'put', 'delete', 'list', 'close'] as const
  return typeof value === 'object' && value !== null && methods.every((name) => typeof (value as Partial<Store>)[name] === 'function')
}

const wrong = (problem: string): TaplineError =>
  new TaplineError('CALL_INVALID_REQUEST', problem, {
    remedy: 'Give { file: FOLDER }, a store, or a store for each area; docs/reference/library.md lists them.',
  })
