import { closeSync, constants, fstatSync, lstatSync, readSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { problemFor } from '../core/disk.ts'
import { makeFolder, openRegular, writeOnce } from '../core/files.ts'
import { digest } from '../core/id.ts'
import { isRunning, nameOfProcess } from './living.ts'

/** Something that was said in a conversation. */
export interface Said {
  readonly turn: string
  readonly role: 'user' | 'assistant'
  readonly content: string
}

interface Line extends Said {
  readonly at: string
  /** Of a user's message: the process that answers it. */
  readonly process?: string
}

const FOLDER = 'agent'
/** So much of the end of a file is read, and so much of a message is kept. */
const READ_BYTES = 1024 * 1024
const KEPT_CHARACTERS = 32_768

/**
 * What was said in one conversation: a file of lines in the workspace's own
 * folder, only ever appended to. A line that a crash has torn is passed over.
 */
export class Conversation {
  private readonly file: string
  private readonly seal: string | undefined

  /**
   * `folder`: the workspace's own, `.punchlist`. `seal`: what each of our lines
   * carries; a line without it is not ours and is ignored.
   * A file without any of our lines is left as it is, and ours gets another name.
   * Without a seal nothing is kept.
   */
  constructor(folder: string, id: string, seal: string | undefined) {
    this.seal = seal
    const named = (name: string) => join(folder, FOLDER, `${name}.jsonl`)
    const plain = named(safeName(id))
    const isFree = seal === undefined || !isForeign(plain, seal)
    this.file = isFree ? plain : named(`${safeName(id)}.${digest(`${seal}\n${id}`).slice(0, 16)}`)
  }

  /**
   * Notes what the user says, and gives back what was said before it. `alone`:
   * nobody else answers in this conversation who came earlier. Of several that
   * begin at once the first in the file is alone, and no other.
   */
  begin(said: Omit<Said, 'role'>, at: Date): { readonly before: Said[]; readonly alone: boolean } {
    if (this.seal === undefined) return { before: [], alone: true }
    const mine = { ...said, role: 'user', at: at.toISOString(), process: nameOfProcess(process.pid) } as const
    this.append(mine)
    const lines = this.lines()
    const place = lines.findLastIndex(line => line.turn === said.turn && line.process === mine.process)
    const earlier = lines.slice(0, Math.max(place, 0))
    const isAnswered = (index: number) =>
      lines.slice(index).some(({ role, turn }) => role === 'assistant' && turn === lines[index]!.turn)
    const others = earlier.filter(
      (line, index) => line.role === 'user' && !isAnswered(index) && isRunning(line.process),
    )
    const before = earlier
      .filter(line => !others.includes(line))
      .map(({ turn, role, content }) => ({ turn, role, content }))
    return { before, alone: others.length === 0 }
  }

  end(said: Omit<Said, 'role'>, at: Date): void {
    this.append({ ...said, role: 'assistant', at: at.toISOString() })
  }

  private append(line: Line): void {
    if (this.seal === undefined) return
    const content =
      line.content.length > KEPT_CHARACTERS ? `${line.content.slice(0, KEPT_CHARACTERS).toWellFormed()}…` : line.content
    try {
      this.prepare()
      const { O_APPEND, O_CREAT, O_RDWR } = constants
      const { descriptor } = openRegular(this.file, O_APPEND | O_CREAT | O_RDWR)
      try {
        // After a torn line a new one begins.
        const start = endsInLine(descriptor) ? '' : '\n'
        // One write at the end of the file: those of several processes come one after the other.
        writeSync(descriptor, `${start}${JSON.stringify({ ...line, content, seal: this.seal })}\n`)
      } finally {
        closeSync(descriptor)
      }
    } catch (error) {
      throw problemFor(error, this.file)
    }
  }

  private prepare(): void {
    const folder = dirname(this.file)
    const ours = dirname(folder)
    makeFolder(dirname(ours), folder)
    writeOnce(join(ours, '.gitignore'), '*\n', 0o644)
  }

  private lines(): Line[] {
    return linesOf(this.file, this.seal)
  }
}

/** Our lines at the end of a file. */
function linesOf(file: string, seal: string | undefined): Line[] {
  const { descriptor, stats } = openRegular(file, constants.O_RDONLY)
  try {
    const { size } = stats
    const start = Math.max(0, size - READ_BYTES)
    const bytes = Buffer.alloc(size - start)
    const read = readSync(descriptor, bytes, 0, bytes.length, start)
    const texts = bytes.toString('utf8', 0, read).split('\n')
    return (start > 0 ? texts.slice(1) : texts).flatMap(text => parsed(text, seal))
  } finally {
    closeSync(descriptor)
  }
}

/** Whether a file is there that has no line of ours. What cannot be opened is refused when it is written to. */
function isForeign(file: string, seal: string): boolean {
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false })
    return stats?.isFile() === true && stats.size > 0 && linesOf(file, seal).length === 0
  } catch {
    return false
  }
}

/** A name from outside as the name of a file: two names never become one, and none leads out of the folder. */
function safeName(id: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,99}$/.test(id)) return id
  const readable = id
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, 40)
    .toLowerCase()
  return `${readable}.${digest(id).slice(0, 24)}`
}

function endsInLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor)
  if (size === 0) return true
  const last = Buffer.alloc(1)
  readSync(descriptor, last, 0, 1, size - 1)
  return last.toString() === '\n'
}

function parsed(text: string, seal: string | undefined): Line[] {
  try {
    const { turn, role, content, at, process: by, seal: its } = JSON.parse(text) as Partial<Line> & { seal?: unknown }
    if (seal === undefined || its !== seal) return []
    if (typeof turn !== 'string' || typeof content !== 'string' || (role !== 'user' && role !== 'assistant')) return []
    return [{ turn, role, content, at: String(at), ...(typeof by === 'string' ? { process: by } : {}) }]
  } catch {
    return []
  }
}
