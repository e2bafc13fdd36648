// Writes the reports of the public surface, etc/*.api.md; with --check it only compares and fails on a difference.
import fs from 'node:fs'
import path from 'node:path'
import { prepare } from './prepare.mjs'
import { CACHE, ROOT } from './tools.mjs'

const ENTRIES = {
  tapline: 'index',
  plugin: 'plugin',
  builtin: path.join('plugins', 'builtin', 'index'),
  openai: path.join('formats', 'openai'),
  anthropic: path.join('formats', 'anthropic'),
  'ai-sdk': path.join('formats', 'ai-sdk'),
  sandbox: path.join('sandbox', 'index'),
  testing: path.join('testing', 'index'),
}
const check = process.argv.includes('--check')

async function report(name, entry) {
  const { Extractor, ExtractorConfig } = await import('@microsoft/api-extractor')
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: path.join(ROOT, 'package.json'),
    configObject: {
      projectFolder: ROOT,
      mainEntryPointFilePath: path.join(ROOT, 'dist', `${entry}.d.ts`),
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            module: 'nodenext',
            target: 'es2022',
            lib: ['es2023', 'esnext.disposable'],
            types: ['node'],
            strict: true,
            skipLibCheck: true,
          },
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: path.join(ROOT, 'etc'),
        reportTempFolder: path.join(CACHE, 'api'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        extractorMessageReporting: { default: { logLevel: 'none' } },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
  })
  const complaints = []
  const result = Extractor.invoke(config, {
    localBuild: !check,
    messageCallback(message) {
      message.handled = true
      if (message.logLevel === 'error') complaints.push(message.text)
    },
  })
  for (const text of complaints) console.error(`${name}: ${text}`)
  const advice = check ? 'is not what the code exports: run `npm run api` and review the difference' : 'written'
  if (result.apiReportChanged) console.error(`etc/${name}.api.md ${advice}`)
  return complaints.length === 0 && !(check && result.apiReportChanged)
}

const status = check ? 0 : await prepare()
let ok = status === 0
fs.mkdirSync(path.join(ROOT, 'etc'), { recursive: true })
if (ok) for (const [name, entry] of Object.entries(ENTRIES)) ok = (await report(name, entry)) && ok
process.exitCode = ok ? 0 : 1
