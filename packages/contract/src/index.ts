/**
 * Conformance suite of the actlog service: checks any deployment against the specification, over HTTP only.
 *
 * @packageDocumentation
 */
export {
  type Bodies,
  type BodyName,
  type ContractClock,
  ContractError,
  type ContractErrorCode,
  type ContractOptions,
} from './contract-options.ts';
export type {
  CheckReport,
  CheckStatus,
  ContractReport,
  RequirementResult,
  RequirementStatus,
} from './contract-report.ts';
export type { Capability, Level, Requirement } from './requirement.ts';
export { requirements } from './requirements.ts';
export { runContract } from './run-contract.ts';
