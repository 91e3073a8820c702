import { adapterSuite } from '@actlog/adapter-suite';
import { langChainHarness, processHarness } from './harness.ts';

adapterSuite(langChainHarness);
adapterSuite(processHarness);
