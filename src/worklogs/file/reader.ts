import { Blocks } from './blocks.ts'
import { type Draft, draftOf } from './draft.ts'
import { filesIn } from './file-names.ts'
import { isDecisions, isFailure, labelIn, quickTask, taskIn } from './headings.ts'
import { asRead, headingText } from './inert.ts'
import { bare, KeyLine, taskStatus } from './keys.ts'
import type { Places } from './places.ts'
import { reasonIn } from './reason-text.ts'
import { wordsIn } from './words.ts'

/** Goes through a worklog's text once; what is open says where a line belongs. */
export class Reader {
  readonly sections: Draft[] = []
  /** Decisions outside of every section. */
  readonly decisions: string[] = []
  /** The level of the headings of tasks. */
  readonly level: number
  /** The level of the first heading of a task that is of another level; 0 for none. */
  other = 0
  /** Notes where things stand, for whoever wants to know. */
  readonly places: Places | undefined
  private readonly text: string
  private readonly blocks: Blocks
  private readonly key = new KeyLine()
  private section: Draft | undefined
  /** The keys that the section has, as bits. */
  private keys = 0
  /** The decisions that are being read, whether they have only a label, and whether another one begins. */
  private deciding: string[] | undefined
  private labelled = false
  private fresh = true
  /** Where the heading of a reason ends that is being read, and how much was passed over before it. */
  private failing = 0
  private passed = 0
  /** Whether files may be listed below, and whether as items in an item. */
  private listing: 'no' | 'below' | 'inside' = 'no'
  private box: { text: string } | undefined

  constructor(text: string, level: number, places?: Places) {
    this.text = text
    this.level = level
    this.places = places
    this.blocks = new Blocks(text)
  }

  read(): void {
    const { blocks } = this
    while (blocks.next()) {
      if (blocks.kind === 'heading') this.heading()
      else if (this.failing > 0) continue
      else if (blocks.kind === 'text') this.plain()
      else if (blocks.kind === 'item') this.item()
      else this.rule()
    }
    this.closeSection()
  }

  private heading(): void {
    const { level, from, end } = this.blocks
    if (level <= this.level) this.closeSection()
    else this.closeSubsection()
    const ours = level === this.level ? quickTask(this.text, from, end) : undefined
    if (ours) return this.open(ours.number, ours.subject)
    const text = headingText(wordsIn(this.text, from, end))
    // At the deepest level there is no room for what belongs to a task.
    const elsewhere = this.other === 0 && this.sections.length === 0 && level < 6
    const task = level === this.level || elsewhere ? taskIn(text) : undefined
    if (task && level === this.level) this.open(task.number, task.subject)
    else if (task) this.other = level
    else if (isDecisions(text)) this.decide()
    else if (this.section && isFailure(text)) {
      this.failing = end
      this.passed = this.blocks.passed.length
      this.places?.failure(this.blocks)
    }
  }

  private open(number: number, subject: string): void {
    this.section = draftOf(number, subject)
    this.keys = 0
    this.sections.push(this.section)
    this.places?.open(this.blocks.end)
  }

  private item(): void {
    const { blocks, text, section, places } = this
    const { from, end, outer } = blocks
    if (outer) {
      this.closeItem()
      places?.outer(blocks)
    }
    this.box = undefined
    const boxed = isBox(text, from, end)
    const words = wordsIn(text, boxed ? from + 3 : from, end)
    if (boxed && section) {
      const sign = text.charCodeAt(from + 1)
      const box = { text: words, done: sign === 120 || sign === 88 }
      this.box = box
      section.subtasks.push(box)
      places?.box(from + 1, this.deciding !== undefined)
      this.listing = 'no'
    }
    if (!this.deciding) {
      if (section && !boxed) this.keyOrFile(section, words)
    } else if (outer) {
      this.fresh = true
      this.decided(boxed ? words : asRead(words))
    } else this.decided(`${wordsIn(text, blocks.marker, from)} ${words}`.trim())
  }

  private keyOrFile(section: Draft, words: string): void {
    const { outer, from, end } = this.blocks
    if (outer && this.key.find(this.text, from, end)) this.take(section, true)
    else if (this.listing === (outer ? 'below' : 'inside')) {
      section.files.push(...filesIn(words))
      this.places?.listed(end)
    } else if (outer) this.listing = 'no'
  }

  private plain(): void {
    const { blocks, text } = this
    const { continues, inside, from, end } = blocks
    if ((!inside || blocks.lazy) && this.named()) return
    if (this.box && continues) this.box.text += ` ${wordsIn(text, from, end)}`
    else this.box = undefined
    if (!inside) {
      this.closeItem()
      if (!continues) this.listing = 'no'
    }
    if (!this.deciding) return
    if (!continues && !inside) this.fresh = true
    const words = wordsIn(text, from, end)
    this.decided(this.fresh ? asRead(words) : words)
  }

  /** Takes a line that has a name: a key, or the beginning of decisions without a heading. */
  private named(): boolean {
    const { blocks, text, key, section } = this
    const found = section !== undefined && key.find(text, blocks.from, blocks.end)
    if (found && (key.bold || !this.deciding)) {
      this.leave()
      this.take(section, false)
      return true
    }
    const label = found ? undefined : labelIn(text, blocks.from, blocks.end)
    if (!label || !(label.decisions || this.labelled)) return false
    this.leave()
    if (!label.decisions) return true
    this.decide()
    this.labelled = true
    this.decided(wordsIn(text, label.end, blocks.end))
    return true
  }

  private leave(): void {
    this.closeDecisions()
    this.closeItem()
    this.blocks.leave()
    this.box = undefined
    this.listing = 'no'
  }

  /** The first line of a name is the one that counts. */
  private take(section: Draft, asItem: boolean): void {
    const { name, bit, value, valueEnd } = this.key
    this.listing = 'no'
    if ((this.keys & bit) !== 0) return
    this.keys |= bit
    this.places?.key(this.key, this.blocks)
    const words = this.text.slice(value, valueEnd)
    if (name === 'Status') section.status = taskStatus(words)
    else if (name === 'Claimed') section.claimed = bare(words)
    else if (name === 'Completed') section.completed = bare(words)
    else if (name === 'Ward Result') section.ward = words || null
    else if (words !== '') section.files = filesIn(words)
    else this.listing = asItem ? 'inside' : 'below'
  }

  private decide(): void {
    this.closeSubsection()
    this.deciding = this.section?.decisions ?? this.decisions
    this.fresh = true
    this.places?.decisions(this.blocks.end)
  }

  private decided(words: string): void {
    if (words === '') return
    const texts = this.deciding!
    if (this.fresh) texts.push(words)
    else texts[texts.length - 1] += ` ${words}`
    this.fresh = false
  }

  private rule(): void {
    this.closeDecisions()
    this.closeItem()
    this.listing = 'no'
  }

  private closeItem(): void {
    this.places?.endItem(this.blocks.inner)
  }

  private closeDecisions(): void {
    if (this.deciding) this.places?.endDecisions(this.blocks.before)
    this.deciding = undefined
    this.labelled = false
  }

  private closeSubsection(): void {
    const { before, passed } = this.blocks
    if (this.failing > 0) {
      this.section!.failure = reasonIn(this.text, this.failing, before, passed.slice(this.passed)) || null
      this.places?.endFailure(before)
      this.failing = 0
    }
    this.rule()
    this.box = undefined
    this.places?.endLead(before)
  }

  private closeSection(): void {
    this.closeSubsection()
    this.places?.end(this.blocks.before)
    this.section = undefined
  }
}

function isBox(text: string, from: number, end: number): boolean {
  if (text.charCodeAt(from) !== 91 || text.charCodeAt(from + 2) !== 93 || from + 2 >= end) return false
  const sign = text.charCodeAt(from + 1)
  if (sign !== 32 && sign !== 120 && sign !== 88 && sign !== 9) return false
  const next = text.charCodeAt(from + 3)
  return from + 3 >= end || next === 32 || next === 9 || next === 13
}
