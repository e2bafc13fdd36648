/** The resolver of sessions with `multi_environment_mcp`: servers of one name live side by side, each under its environment. */
import type { NamingChoice } from './resolver.ts'
import { BaseResolver } from './resolver.ts'
import type { ResourceQuery, ResourceSelection } from './resource-selection.ts'
import { selectScoped } from './resource-selection.ts'
import type { CatalogView } from '../servers/catalog.ts'
import type { Names } from '../servers/name-table.ts'

/** Every key is visible and has a name of its own. */
export class ScopedResolver extends BaseResolver {
  override readonly takesEnvironment = true
  readonly #selected: readonly string[]

  constructor(view: CatalogView, names: Names, naming: NamingChoice, selected: readonly string[]) {
    super(view, names, naming)
    this.#selected = selected
  }

  override selectForResources(query: ResourceQuery): ResourceSelection {
    return selectScoped(this.view, this.#selected, query)
  }
}
