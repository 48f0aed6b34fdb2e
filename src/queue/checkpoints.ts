import { documentOf, documentText, keyOf } from './document.ts'

export interface Checkpoint {
  /** ISO time, UTC. */
  readonly at: string
  readonly by: string
  readonly summary: string
  /** What the worker cannot go on without. */
  readonly needs?: string | null | undefined
}

export function checkpoint(number: number, { at, by, summary, needs }: Checkpoint): string {
  return documentText(
    `Checkpoint ${digits(number)}`,
    { Timestamp: at, Status: needs?.trim() ? 'awaiting_input' : 'in_progress', By: by },
    { Summary: summary, Needs: needs },
  )
}

export function readCheckpoint(text: string): Omit<Checkpoint, 'at' | 'by'> & { readonly awaiting: boolean } {
  const { headers, sections } = documentOf(text)
  const status = headers.find(({ key }) => key === 'status')?.text ?? ''
  return {
    summary: sections.get('summary')?.text ?? '',
    needs: sections.get('needs')?.text || null,
    awaiting: keyOf(status) === 'awaitinginput',
  }
}

/** Whether a checkpoint says that its worker waits for an answer. */
export function isAwaiting(text: string): boolean {
  return readCheckpoint(text).awaiting
}

/** The answer to a checkpoint. */
export function reply(number: number, { at, by, text }: { at: string; by: string; text: string }): string {
  return documentText(`Reply to Checkpoint ${digits(number)}`, { Timestamp: at, By: by }, { Reply: text })
}

export function checkpointName(number: number): string {
  return `checkpoint_${digits(number)}.md`
}

export function replyName(number: number): string {
  return `checkpoint_${digits(number)}_reply.md`
}

/** The number in the name of a checkpoint; undefined for any other file. */
export function checkpointNumber(name: string): number | undefined {
  const [, number] = /^checkpoint_(\d{1,9})\.md$/.exec(name) ?? []
  return number === undefined ? undefined : Number(number)
}

function digits(number: number): string {
  return String(number).padStart(3, '0')
}
