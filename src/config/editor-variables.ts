/** What `${…}` can mean in a file of VS Code (and of clients that follow it) beside variables of the environment. */
import path from 'node:path'
import type { Answers } from './inputs.ts'

/** Words that only a running editor could fill in. */
const EDITOR_ONLY: ReadonlySet<string> = new Set([
  'file',
  'fileWorkspaceFolder',
  'relativeFile',
  'relativeFileDirname',
  'fileBasename',
  'fileBasenameNoExtension',
  'fileExtname',
  'fileDirname',
  'fileDirnameBasename',
  'lineNumber',
  'columnNumber',
  'selectedText',
  'execPath',
  'defaultBuildTask',
])

/** The meaning of one word between `${` and `}`. */
export type Meaning =
  | { readonly kind: 'value'; readonly value: string }
  /** a value of the person: secret like one of the environment */
  | { readonly kind: 'input'; readonly value: string; readonly default: string | null }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'problem'; readonly why: string }

/** The words of one file. */
export class EditorVariables {
  readonly #words: ReadonlyMap<string, string>
  readonly #answers: Answers

  constructor({
    workspace,
    home,
    cwd,
    answers,
  }: { readonly workspace: string; readonly home: string; readonly cwd: string; readonly answers: Answers }) {
    this.#words = new Map([
      ['workspaceFolder', workspace],
      ['workspaceFolderBasename', path.basename(workspace)],
      ['userHome', home],
      ['cwd', cwd],
      ['pathSeparator', path.sep],
      ['/', path.sep],
    ])
    this.#answers = answers
  }

  /** What the word means, or null where it is none of the editor. */
  meaning(word: string): Meaning | null {
    const value = this.#words.get(word)
    if (value !== undefined) return { kind: 'value', value }
    const [, kind, name = ''] = /^(\w+):([^-].*)$/s.exec(word) ?? []
    if (kind === 'env') return { kind: 'variable', name }
    if (kind === 'input') {
      const answer = this.#answers.get(name)
      if (answer === undefined) return { kind: 'problem', why: `there is no input "${name}"` }
      return 'value' in answer ? { kind: 'input', ...answer } : { kind: 'problem', why: answer.why }
    }
    if (kind !== undefined || EDITOR_ONLY.has(word))
      return { kind: 'problem', why: `\${${word}} means something in an editor only; write the value` }
    return null
  }
}
