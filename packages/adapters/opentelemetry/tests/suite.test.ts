import { adapterSuite } from '@actlog/adapter-suite';
import { openTelemetryHarness } from './harness.ts';

adapterSuite(openTelemetryHarness);
