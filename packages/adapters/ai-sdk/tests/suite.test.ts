import { adapterSuite } from '@actlog/adapter-suite';
import * as ai from 'ai';
import { telemetryHarness, toolsHarness } from './harness.ts';

adapterSuite(toolsHarness);
// `ai` 6 has no telemetry for tools.
if ('registerTelemetry' in ai) adapterSuite(telemetryHarness, 'telemetry');
