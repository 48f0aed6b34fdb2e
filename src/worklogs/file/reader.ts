import { tidy, trimmed } from '../../core/markdown.ts'
import { Blocks } from './blocks.ts'
import { filesIn } from './file-names.ts'
import { isDecisions, isFailure, labelIn, taskIn } from './headings.ts'
import { asRead, headingText } from './inert.ts'
import { bare, KeyLine, taskStatus } from './keys.ts'
import { type Draft, type ItemPlace, type KeyPlace, Place } from './layout.ts'

/** Goes through a worklog's text once; what is open says where a line belongs. */
export class Reader {
  readonly sections: Draft[] = []
  /** For each of them, where its parts stand. */
  readonly places: Place[] = []
  /** Decisions outside of every section. */
  readonly decisions: string[] = []
  /** The level of the headings of tasks. */
  readonly level: number
  /** The level of the first heading of a task that is of another level; 0 for none. */
  other = 0
  private readonly text: string
  private readonly blocks: Blocks
  private readonly key = new KeyLine()
  private section: Draft | undefined
  private place: Place | undefined
  /** The decisions that are being read, and whether they have a heading or only a label. */
  private deciding: string[] | undefined
  private labelled = false
  /** Whether what comes next begins another decision. */
  private fresh = true
  private failing = false
  private passed = 0
  private files: KeyPlace | undefined
  private item: ItemPlace | undefined
  private box: { text: string } | undefined

  constructor(text: string, level: number) {
    this.text = text
    this.level = level
    this.blocks = new Blocks(text)
  }

  read(): void {
    const { blocks } = this
    while (blocks.next()) {
      switch (blocks.kind) {
        case 'text':
          this.plain()
          break
        case 'item':
          this.listItem()
          break
        case 'heading':
          this.heading()
          break
        case 'rule':
          this.closeDecisions()
          this.closeItem()
          this.files = undefined
      }
    }
    this.closeSection()
  }

  private heading(): void {
    const { level, from, end } = this.blocks
    const text = headingText(this.text.slice(from, end))
    if (level <= this.level) this.closeSection()
    else this.closeSubsection()
    // At the deepest level there is no room for what belongs to a task.
    const elsewhere = this.other === 0 && this.sections.length === 0 && level < 6
    const task = level === this.level || elsewhere ? taskIn(text) : undefined
    if (task && level === this.level) {
      this.section = {
        number: task.number,
        subject: task.subject,
        status: 'unknown',
        claimed: null,
        completed: null,
        subtasks: [],
        files: [],
        ward: null,
        decisions: [],
        failure: null,
      }
      this.place = new Place(end)
      this.sections.push(this.section)
      this.places.push(this.place)
      return
    }
    if (task) this.other = level
    if (isDecisions(text)) this.decide()
    else if (this.place && isFailure(text)) {
      this.failing = true
      this.place.failure = { start: this.blocks.start, heading: end, end }
      this.passed = this.blocks.passed.length
    }
  }

  private listItem(): void {
    // What stands in the reason of a failure is text, check boxes too.
    if (this.failing) return
    const { blocks, text } = this
    const { start, from, end, marker, outer } = blocks
    if (outer) {
      this.closeItem()
      this.item = { start, marker, from, end }
    }
    this.box = undefined
    const boxed = isBox(text, from, end)
    const words = text.slice(boxed ? from + 3 : from, end).trim()
    if (boxed && this.section && this.place) {
      const sign = text.charCodeAt(from + 1)
      const box = { text: words, done: sign === 120 || sign === 88 }
      this.box = box
      this.section.subtasks.push(box)
      this.place.signs.push(from + 1)
      if (!this.deciding) this.place.list = this.item
      this.files = undefined
    }
    if (this.deciding) {
      if (outer) this.fresh = true
      if (outer) this.decided(boxed ? words : asRead(words))
      else this.decided(`${text.slice(marker, from).trim()} ${words}`.trim())
    } else if (this.section && !boxed) this.keyOrFile(words)
  }

  private keyOrFile(words: string): void {
    const { outer, from, end } = this.blocks
    if (outer && this.key.find(this.text, from, end)) return this.take()
    if (!this.files) return
    const below = this.files.word > this.files.start && isItem(this.text, this.files)
    if (below === outer) this.files = undefined
    else {
      this.section!.files.push(...filesIn(words))
      this.files.listEnd = end
    }
  }

  private plain(): void {
    const { blocks, text } = this
    if (this.failing || ((!blocks.inside || blocks.lazy) && this.named())) return
    const { continues, inside } = blocks
    if (!this.deciding && !this.box && !this.item && !this.files) return
    const words = text.slice(blocks.from, blocks.end).trim()
    if (this.box && continues) this.box.text += ` ${words}`
    else this.box = undefined
    if (!inside) {
      this.closeItem()
      if (!continues) this.files = undefined
    }
    if (!this.deciding) return
    if (!continues && !inside) this.fresh = true
    this.decided(this.fresh ? asRead(words) : words)
  }

  /** Takes a line that has a name: a key, or the beginning of decisions without a heading. */
  private named(): boolean {
    const { blocks, text, key } = this
    const found = this.section !== undefined && key.find(text, blocks.from, blocks.end)
    if (found && (key.bold || !this.deciding)) {
      this.leave()
      this.take()
      return true
    }
    const label = found ? undefined : labelIn(text, blocks.from, blocks.end)
    if (!label || !(label.decisions || this.labelled)) return false
    this.leave()
    if (!label.decisions) return true
    this.decide()
    this.labelled = true
    this.decided(text.slice(label.end, blocks.end).trim())
    return true
  }

  private leave(): void {
    this.closeDecisions()
    this.closeItem()
    this.blocks.leave()
    this.box = undefined
    this.files = undefined
  }

  private take(): void {
    const { text, key, blocks } = this
    const { name, word, value, valueEnd } = key
    const section = this.section!
    const { keys } = this.place!
    this.files = undefined
    for (const other of keys) if (other.name === name) return
    const { start, end } = blocks
    const place = { name, start, word, value, valueEnd, end, listEnd: end }
    keys.push(place)
    const words = text.slice(value, valueEnd)
    switch (name) {
      case 'Status':
        section.status = taskStatus(words)
        break
      case 'Claimed':
        section.claimed = bare(words)
        break
      case 'Completed':
        section.completed = bare(words)
        break
      case 'Ward Result':
        section.ward = words || null
        break
      case 'Files touched':
        section.files = filesIn(words)
        if (words === '') this.files = place
    }
  }

  private decide(): void {
    this.closeSubsection()
    this.deciding = this.section?.decisions ?? this.decisions
    this.fresh = true
    if (this.place) this.place.decisions = { end: this.blocks.end, item: undefined }
  }

  private decided(words: string): void {
    if (words === '') return
    const texts = this.deciding!
    if (this.fresh) texts.push(words)
    else texts[texts.length - 1] += ` ${words}`
    this.fresh = false
  }

  private closeItem(): void {
    if (this.item) this.item.end = this.blocks.inner
    this.item = undefined
  }

  private closeDecisions(): void {
    if (!this.deciding) return
    if (this.place?.decisions) {
      this.place.decisions.end = this.blocks.before
      this.place.decisions.item = this.item
    }
    this.deciding = undefined
    this.labelled = false
  }

  private closeSubsection(): void {
    if (this.failing && this.place?.failure) {
      this.place.failure.end = this.blocks.before
      this.section!.failure = reasonIn(this.text, this.place.failure, this.blocks.passed.slice(this.passed)) || null
      this.failing = false
    }
    this.closeDecisions()
    this.closeItem()
    this.files = undefined
    this.box = undefined
    if (this.place && this.place.lead === 0) this.place.lead = this.blocks.before
  }

  private closeSection(): void {
    this.closeSubsection()
    if (this.place) this.place.end = this.blocks.before
    this.section = undefined
    this.place = undefined
  }
}

function isBox(text: string, from: number, end: number): boolean {
  if (text.charCodeAt(from) !== 91 || text.charCodeAt(from + 2) !== 93 || from + 2 >= end) return false
  const sign = text.charCodeAt(from + 1)
  if (sign !== 32 && sign !== 120 && sign !== 88 && sign !== 9) return false
  const next = text.charCodeAt(from + 3)
  return from + 3 >= end || next === 32 || next === 9 || next === 13
}

/** Whether the line of a key is an item of a list. */
function isItem(text: string, { start, word }: KeyPlace): boolean {
  return /[-+\d]|\*[ \t]/.test(text.slice(start, word))
}

/** The text below a heading without the comments in it; what stands in a fence where there is nothing else. */
function reasonIn(text: string, failure: { heading: number; end: number }, passed: Blocks['passed']): string {
  const { start, end } = trimmed(text, failure.heading, failure.end)
  const [only] = passed
  if (passed.length === 1 && only!.fenced && only!.start === start && only!.end >= end && isFence(text, start)) {
    const first = text.indexOf('\n', start) + 1
    return text.slice(first, Math.max(first, text.lastIndexOf('\n', only!.end - 1)))
  }
  let reason = ''
  let at = start
  for (const part of passed) {
    if (part.fenced) continue
    reason += text.slice(at, part.start)
    at = part.end
  }
  return tidy(reason + text.slice(Math.min(at, end), end))
}

function isFence(text: string, start: number): boolean {
  return /^ {0,3}[`~]/.test(text.slice(start, start + 4))
}
