import type { Piece } from './piece.ts'
import { SKILL, SKILL_MARK } from './texts.ts'
import { whole } from './whole.ts'

/** The skill, in a folder of skills. */
export function skill(root: string, folder: string): Piece {
  return whole({ name: 'skill', root, path: `${folder}/punchlist/SKILL.md` }, SKILL, SKILL_MARK)
}
