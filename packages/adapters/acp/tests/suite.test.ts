import { adapterSuite } from '@actlog/adapter-suite';
import { acpAgentHarness, acpClientHarness } from './harness.ts';

adapterSuite(acpClientHarness);
adapterSuite(acpAgentHarness);
