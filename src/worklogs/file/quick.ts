import type { Account } from '../record.ts'
import { type Draft, draftOf } from './draft.ts'
import { filesIn } from './file-names.ts'
import { quickTask } from './headings.ts'
import { bare, taskStatus } from './keys.ts'
import { isPlain, wordsIn } from './words.ts'

/**
 * Reads a text that is written the way we write, from beginning to end;
 * undefined for any other, which the reader for all texts takes. A summary reads
 * ten thousand sections before the code is compiled well: with this it takes a
 * third of the time. What both read, they must read alike.
 */
export function quickly(body: string, brief = false): Account | undefined {
  const quick = new Quick(body, brief)
  const sections: Draft[] = []
  while (quick.at < body.length) {
    const section = quick.section()
    if (!section) return undefined
    sections.push(section)
  }
  return { sections, decisions: [] }
}

const LF = 10
/** Any of many, where they are only counted. */
const DONE = Object.freeze({ text: '', done: true })
const OPEN = Object.freeze({ text: '', done: false })

class Quick {
  /** Where the next line begins. */
  at = 0
  private readonly text: string
  /** Whether only what is counted or told in a summary is wanted. */
  private readonly brief: boolean

  constructor(text: string, brief: boolean) {
    this.text = text
    this.brief = brief
  }

  section(): Draft | undefined {
    const { text } = this
    const end = this.lineEnd()
    const task = text.startsWith('## ', this.at) ? quickTask(text, this.at + 2, end) : undefined
    if (!task || text.charCodeAt(end + 1) !== LF) return undefined
    this.at = end + 2
    const section = draftOf(task.number, task.subject)
    return this.keys(section) &&
      this.boxes(section) &&
      this.decisions(section) &&
      this.failure(section) &&
      this.isOver()
      ? section
      : undefined
  }

  private keys(section: Draft): boolean {
    const status = this.value('**Status**: ')
    if (!status) return false
    section.status = taskStatus(status)
    const claimed = this.value('**Claimed**: ')
    const completed = this.value('**Completed**: ')
    const files = this.value('**Files touched**: ')
    if (!this.brief) {
      section.claimed = bare(claimed)
      section.completed = bare(completed)
      section.files = filesIn(files)
    }
    section.ward = this.value('**Ward Result**: ') || null
    return true
  }

  /** The rest of a line that begins like this; empty for any other, which is left for whatever is looked for next. */
  private value(head: string): string {
    if (!this.text.startsWith(head, this.at)) return ''
    const start = this.at + head.length
    const end = this.lineEnd()
    if (!this.isWhole(start, end)) return ''
    this.at = end + 1
    return this.text.slice(start, end)
  }

  private boxes(section: Draft): boolean {
    const { text } = this
    if (!text.startsWith('\n- [', this.at)) return true
    this.at++
    while (text.startsWith('- [', this.at)) {
      const sign = text.charCodeAt(this.at + 3)
      const done = sign === 120 || sign === 88
      if ((!done && sign !== 32) || !text.startsWith('] ', this.at + 4)) return false
      const end = this.lineEnd()
      section.subtasks.push(this.brief ? (done ? DONE : OPEN) : { text: wordsIn(text, this.at + 5, end), done })
      this.at = end + 1
    }
    return true
  }

  private decisions(section: Draft): boolean {
    const { text } = this
    if (!text.startsWith(DECISIONS, this.at)) return true
    this.at += DECISIONS.length
    while (text.startsWith('- ', this.at)) {
      const start = this.at + 2
      const tagged = text.charCodeAt(start) === 91 && text.charCodeAt(start + 2) !== 93
      const end = this.lineEnd()
      // Whatever could begin something else than text is not looked at here.
      if (!isLetter(text.charCodeAt(tagged ? start + 1 : start)) || !this.isWhole(start, end)) return false
      section.decisions.push(text.slice(start, end))
      this.at = end + 1
    }
    return section.decisions.length > 0
  }

  private failure(section: Draft): boolean {
    if (!this.text.startsWith(FAILURE, this.at)) return true
    const start = this.at + FAILURE.length
    this.at = start
    const end = this.lineEnd()
    if (!isLetter(this.text.charCodeAt(start)) || !this.isWhole(start, end)) return false
    section.failure = this.text.slice(start, end)
    this.at = end + 1
    return true
  }

  /** Whether the next section follows, or nothing. */
  private isOver(): boolean {
    if (this.at >= this.text.length) return true
    return this.text.charCodeAt(this.at++) === LF
  }

  private lineEnd(): number {
    const newline = this.text.indexOf('\n', this.at)
    return newline < 0 ? this.text.length : newline
  }

  /** Whether a part has no space around it that would have to be taken off. */
  private isWhole(start: number, end: number): boolean {
    return end > start && isPlain(this.text.charCodeAt(start)) && isPlain(this.text.charCodeAt(end - 1))
  }
}

const DECISIONS = '\n### Decisions\n\n'
const FAILURE = '\n### Failure reason\n\n'

function isLetter(code: number): boolean {
  return (code > 96 && code < 123) || (code > 64 && code < 91)
}
