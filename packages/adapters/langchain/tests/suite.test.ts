import { adapterSuite } from '@actlog/adapter-suite';
import { langChainHarness } from './harness.ts';

adapterSuite(langChainHarness);
