import { adapterSuite } from '@actlog/adapter-suite';
import { beforeAll, vi } from 'vitest';
import { a2aClientHarness, a2aExecutorHarness } from './harness.ts';

// The SDK writes the error of an executor there.
beforeAll(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

adapterSuite(a2aClientHarness);
adapterSuite(a2aExecutorHarness);
