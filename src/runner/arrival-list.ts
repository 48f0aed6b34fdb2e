import type { Run } from './run.ts'

const MOST_LISTED = 20

/** Lists the open tasks, or the one with this id, that were not added here and that the user was not shown before. */
export async function listArrived({ arrivals, diary }: Pick<Run, 'arrivals' | 'diary'>, id?: string): Promise<void> {
  const unseen = await arrivals.unseen(id)
  for (const { id: task, title } of unseen.slice(0, MOST_LISTED)) diary.tell({ what: 'not_added_here', task, title })
  const count = unseen.length - MOST_LISTED
  if (count > 0) diary.tell({ what: 'more_not_added_here', count })
}
