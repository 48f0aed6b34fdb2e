import type { Surroundings } from './main.ts'

/** Plays a day of two agents through the real command line, in a folder that is gone afterwards. */
export async function demo(around: Surroundings): Promise<number> {
  const { Stage } = await import('./demo-stage.ts')
  const { ACTS, ENDING } = await import('./demo-story.ts')
  const stage = new Stage(around)
  try {
    for (const act of ACTS) await act(stage)
    stage.say(ENDING)
    return 0
  } catch (error) {
    if (stage.interrupted) return 130
    throw error
  } finally {
    await stage.clear()
  }
}
