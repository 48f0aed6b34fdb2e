import { defineConfig } from 'vitest/config'

/** The long forms: every system call, many rounds. They take half an hour and want strace. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.soak.ts', 'test/crash/**/*.test.ts'],
    env: { STORM: '10' },
    setupFiles: ['test/support/home-setup.ts'],
    globalSetup: ['test/support/build-setup.ts', 'test/support/postgres-setup.ts'],
    testTimeout: 1_800_000,
    maxWorkers: 2,
  },
})
