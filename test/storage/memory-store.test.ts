import { memoryStore } from '../../src/storage/memory-store.ts'
import { storeSuite } from './store-suite.ts'

storeSuite(memoryStore)
