import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/home-setup.ts'],
    globalSetup: ['test/support/build-setup.ts', 'test/support/postgres-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores are common, and most tests start processes of their own.
    maxWorkers: 2,
  },
})
