import { join } from 'node:path'
import { readRegular, replaceFile } from '../../core/files.ts'
import { keyedDigest } from '../../core/id.ts'
import type { Kind, Texts } from '../../core/kind.ts'
import type { Fields } from '../../core/lifecycle.ts'
import { guarded } from './problems.ts'
import { formOf } from './reading.ts'
import type { Root } from './root.ts'

/**
 * Seals of texts that count only as we wrote them: whoever works in an item's
 * directory can write any file there. A seal is made with a secret of the user's
 * and with the item's id, so that it is good for no other item and no other text.
 */
export class SealedTexts {
  private readonly root: Root
  private readonly secret: (() => string) | undefined

  /** Without a secret every text counts. */
  constructor(root: Root, secret: (() => string) | undefined) {
    this.root = root
    this.secret = secret
  }

  /** Seals the text of this kind that is among those about to be written, if there is one. */
  keep(kind: Kind, id: string, texts: Texts): void {
    const content = texts[formOf(kind).sealed?.text ?? '']
    if (content === undefined || !this.secret) return
    const path = this.path(id)
    guarded(path, () => replaceFile(path, this.sealFor(id, content)))
  }

  /** Fields that a directory tells, without what stands in a text that is not sealed. */
  believed(kind: Kind, id: string, fields: Fields, text: (name: string) => string | undefined): Fields {
    const { sealed } = formOf(kind)
    if (!sealed || !this.secret || (fields[sealed.field] ?? null) === null) return fields
    return this.isSealed(id, text(sealed.text)) ? fields : { ...fields, [sealed.field]: null }
  }

  private isSealed(id: string, content: string | undefined): boolean {
    try {
      return content !== undefined && readRegular(this.path(id), LARGEST) === this.sealFor(id, content)
    } catch {
      // A link, a pipe: none of ours.
      return false
    }
  }

  private sealFor(id: string, content: string): string {
    return keyedDigest(this.secret!(), `${id}\n${content}`)
  }

  private path(id: string): string {
    return join(this.root.own('tasks', id), 'seal')
  }
}

const LARGEST = 1024
