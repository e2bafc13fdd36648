/** The resolver of sessions with `multi_environment_mcp`: servers of one name live side by side, each under its environment. */
import { BaseResolver } from './resolver.ts'
import type { ResourceQuery, ResourceSelection } from './resource-selection.ts'
import { selectScoped } from './resource-selection.ts'
import type { CatalogView } from '../servers/catalog.ts'
import type { NamingScheme } from '../servers/naming-scheme.ts'

/** Every key is visible and has a name of its own. */
export class ScopedResolver extends BaseResolver {
  override readonly takesEnvironment = true
  readonly #selected: readonly string[]

  constructor(view: CatalogView, naming: NamingScheme, selected: readonly string[]) {
    super(view, naming)
    this.#selected = selected
  }

  override selectForResources(query: ResourceQuery): ResourceSelection {
    return selectScoped(this.view, this.#selected, query)
  }
}
