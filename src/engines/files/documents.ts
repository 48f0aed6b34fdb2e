import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Problem } from '../../core/problem.ts'

/** PLACEHOLDER by the lead until the real one is here: replace all of it. */
export class Documents {
  private readonly top: string

  constructor(root: string, work: string) {
    this.top = join(root, work)
  }

  async read(path: string): Promise<string | undefined> {
    try {
      return readFileSync(join(this.top, path), 'utf8')
    } catch {
      return undefined
    }
  }

  async write(path: string, text: string): Promise<void> {
    mkdirSync(dirname(join(this.top, path)), { recursive: true })
    writeFileSync(join(this.top, path), text)
  }

  async hindrance(_: string): Promise<Problem | undefined> {
    return undefined
  }
}
