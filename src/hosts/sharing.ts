/** What was just answered answers the other questions of the same decision. */
const SHARED_MS = 200

interface Shared<T> {
  readonly ask: (about: string) => Promise<T>
  readonly forget: (about: string) => void
}

/** Asks once for whoever wants to know the same at the same time. */
export function shared<T>(question: (about: string) => Promise<T>): Shared<T> {
  const given = new Map<string, { readonly at: number; readonly answer: Promise<T> }>()
  return {
    async ask(about) {
      const present = given.get(about)
      if (present && Date.now() - present.at < SHARED_MS) return await present.answer
      const answer = question(about)
      given.set(about, { at: Date.now(), answer })
      return await answer
    },

    forget: about => void given.delete(about),
  }
}
