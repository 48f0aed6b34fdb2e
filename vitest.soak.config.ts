import { defineConfig } from 'vitest/config'

/** The long forms: every system call, many rounds. They take a quarter of an hour and want strace. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.soak.ts'],
    globalSetup: ['test/support/build-setup.ts'],
    testTimeout: 1_800_000,
    maxWorkers: 2,
  },
})
