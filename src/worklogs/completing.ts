import type { Caller } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { runWards, type WardResult } from '../core/wards.ts'
import { attemptAt, type Rewriting, rewrite, type Told, toldBy } from './accounts.ts'
import { withOutcome, withWard } from './file/editing.ts'
import { judge } from './judging.ts'
import type { TaskSection, Worklog } from './record.ts'
import { whyVerified } from './verified-tasks.ts'

export interface Completion {
  readonly number: number
  readonly files: readonly string[]
  /** What the worker says of the wards. */
  readonly reported: string | undefined
}

/** Completes a task if the wards pass, which are run here. Both are kept: what the worker says of them and what we saw. */
export async function completeTask(caller: Caller, item: Worklog, wanted: Completion): Promise<Told> {
  const { number, files } = wanted
  const completed = caller.now().toISOString()
  const [before] = await toldBy(caller, [item])
  const section = attemptAt(item, before!.account, number)
  if (isSame(section, wanted)) return before!
  // Before the wards, which take their time; and once more when it is written, as somebody may have been faster.
  judge(item, section, 'completed', { completed })
  const wards = await runWards(caller)
  if (wards?.failed) throw await wardFailed(caller, item, number, wards.text, wards.failed)
  const change: Rewriting = (body, account) => {
    const now = attemptAt(item, account, number)
    if (isSame(now, wanted)) return body
    judge(item, now, 'completed', { completed })
    const all = [...new Set([...now.files, ...files])]
    return withOutcome(body, number, { status: 'completed', completed, files: all, ward: wardText(wards, wanted) })
  }
  const why = wards?.verdict === 'passed' ? whyVerified([number]) : `Task #${number} completed`
  const told = await rewrite(caller, item, change, why)
  return wards?.verdict === 'unknown' ? { ...told, warning: UNTRUSTED } : told
}

const UNTRUSTED = {
  file: 'punchlist.json',
  line: 1,
  message: 'its wards were not run; read them, and accept them if they are to be run here: punchlist trust',
}

/** Whether a task was completed with this very answer. */
function isSame({ status, files: known, ward }: TaskSection, { files, reported }: Completion): boolean {
  if (status !== 'completed' || !files.every(file => known.includes(file))) return false
  return reported === undefined || (ward ?? '').includes(reported)
}

function wardText(wards: WardResult | undefined, { reported }: Completion): string | undefined {
  if (!wards) return reported
  return reported === undefined ? wards.text : `${wards.text} (reported: ${reported})`
}

/** That a ward failed is kept with the task: that somebody claimed completion is a fact, too. */
async function wardFailed(
  caller: Caller,
  item: Worklog,
  number: number,
  text: string,
  failed: NonNullable<WardResult['failed']>,
): Promise<Problem> {
  try {
    await rewrite(caller, item, body => withWard(body, number, text), `Task #${number}: ward ${text}`)
  } catch (error) {
    // What cannot be written down has failed all the same.
    if (!(error instanceof Problem)) throw error
  }
  const last = failed.output.trim().split('\n').slice(-10).join('\n').slice(-800)
  return new Problem(
    'move_refused',
    `Task #${number} of ${item.worker} is not completed: ${text}`,
    `Mend what it complains of and complete the task again.${last ? ` It said last:\n${last}` : ''}`,
    { name: item.worker, task: number, verification: failed },
  )
}
