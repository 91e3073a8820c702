import { adapterSuite } from '@actlog/adapter-suite';
import { test } from 'vitest';
import { claudeRuns } from './claude.ts';
import { claudeHarness } from './harness.ts';

if (await claudeRuns()) adapterSuite(claudeHarness);
else test.skip('NOT TRIED: Claude Code does not run on this machine', () => {});
