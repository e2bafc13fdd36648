#!/usr/bin/env node
import { main } from './run.ts'

await main(process.argv.slice(2))
