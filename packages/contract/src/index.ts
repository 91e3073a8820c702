/**
 * Conformance suite of the actlog service: checks any deployment against the specification, over HTTP only.
 *
 * @packageDocumentation
 */
export { ContractError, type ContractErrorCode } from './contract-error.ts';
export type { Bodies, BodyName, ContractClock, ContractOptions } from './contract-options.ts';
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
