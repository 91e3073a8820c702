/**
 * Tests that every adapter must pass. An adapter provides an {@link AdapterHarness} and calls {@link adapterSuite}.
 *
 * @packageDocumentation
 */
export { type AdapterCase, type CaseContext, suiteTools } from './adapter-case.ts';
export { runCommonJsBundle } from './commonjs-bundle.ts';
export type {
  Abilities,
  AdapterHarness,
  Chat,
  Ending,
  Scenario,
  ScriptedCall,
  SeenOrigins,
  SuiteTool,
} from './harness.ts';
export { mcpErrorResult, refusalOf, refusedPaths, refusedStatuses } from './mcp-results.ts';
export { withEnvironment } from './process-environment.ts';
export { RecordingProxy } from './recording-proxy.ts';
export { secondCopy } from './second-copy.ts';
export { type SeenEvent, Service } from './service.ts';
export { adapterCases, adapterSuite, startSuiteService } from './suite.ts';
