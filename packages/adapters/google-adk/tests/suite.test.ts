import { adapterSuite } from '@actlog/adapter-suite';
import { googleAdkHarness } from './harness.ts';

adapterSuite(googleAdkHarness);
