import { relative } from 'node:path'
import type { Complaint, Content, Kind } from '../../core/kind.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { Problem } from '../../core/problem.ts'
import type { Unreadable } from '../../core/store.ts'
import { readContent, readText } from './reading.ts'
import { formOf, type Tree } from './tree.ts'

/** So many are asked for in one statement. */
const AT_ONCE = 500
/** So many files are kept in mind: more than anybody decides on at once. */
const IN_MIND = 32

/** What stands in the files of items. */
export class Contents {
  private readonly ledger: Ledger
  private readonly tree: Tree
  private readonly root: string
  /** The files whose texts were given out last: what becomes of them was decided on these. */
  private readonly given = new Map<string, string>()

  constructor(ledger: Ledger, tree: Tree, root: string) {
    this.ledger = ledger
    this.tree = tree
    this.root = root
  }

  /** By id; those that the ledger does not know, or whose files are gone, are absent. */
  of(kind: Kind, ids: readonly string[]): Map<string, Content> {
    const form = formOf(kind)
    const contents = new Map<string, Content>()
    const prefixes = new Map<string, string | undefined>()
    for (const item of this.itemsOf(kind, ids)) {
      const { folder, list } = this.tree.placeOf(kind, item)
      if (!prefixes.has(folder))
        prefixes.set(folder, this.tree.isReachable(folder) ? this.tree.prefix(folder) : undefined)
      const prefix = prefixes.get(folder)
      const name = String(item[form.name])
      const found = prefix === undefined ? undefined : readContent(prefix + name, text => form.read(text, name, list))
      if (!found) continue
      if ('message' in found.content) throw this.unreadable(folder, name, found.content)
      const id = String(item['id'])
      contents.set(id, found.content)
      this.keepInMind(id, found.text)
    }
    return contents
  }

  /** What is passed over in the files of these items, as they are now. */
  remarks(kind: Kind, ids: readonly string[]): Unreadable[] {
    const form = formOf(kind)
    return this.itemsOf(kind, ids).flatMap(item => {
      const { folder } = this.tree.placeOf(kind, item)
      const name = String(item[form.name])
      const path = this.tree.path(folder, name)
      const look = form.remarks && this.tree.isReachable(folder) ? readText(path) : undefined
      const found = look && 'text' in look ? form.remarks!(look.text, name) : []
      return found.map(remark => ({ file: relative(this.root, path), ...remark }))
    })
  }

  /** Whether a file is the one whose texts were given out, or none was; it is not asked again. */
  isAsGiven(id: string, text: string): boolean {
    const given = this.given.get(id)
    this.given.delete(id)
    return given === undefined || given === text
  }

  unreadable(folder: string, name: string, { line, message }: Complaint): Problem {
    const file = relative(this.root, this.tree.path(folder, name))
    return new Problem(
      'unreadable_file',
      `${file}:${line} ${message}`,
      'Correct the file by hand; nothing was written to it.',
      { file, line },
    )
  }

  private itemsOf(kind: Kind, ids: readonly string[]): Fields[] {
    const fields = [...kind.list, formOf(kind).name]
    const items: Fields[] = []
    for (let n = 0; n < ids.length; n += AT_ONCE) {
      const id = ids.slice(n, n + AT_ONCE)
      items.push(...(this.ledger.find(kind, { where: { id }, fields }) as unknown as Fields[]))
    }
    return items
  }

  private keepInMind(id: string, text: string | undefined): void {
    this.given.delete(id)
    if (text === undefined) return
    this.given.set(id, text)
    if (this.given.size > IN_MIND) this.given.delete(this.given.keys().next().value!)
  }
}
