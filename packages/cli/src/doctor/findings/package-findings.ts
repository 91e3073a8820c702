import type { FindingText } from './finding-text.ts';

const useOneVersion = 'Install one version of all @actlog packages, then run "{dedupe}".';

/** Problems of the installed packages, and of the checks themselves. */
export const packageFindings = {
  'recorder-versions': {
    check: 'recorder',
    status: 'failed',
    problem: '@actlog/recorder is installed in several versions: {copies}.',
    fix: useOneVersion,
  },
  'recorder-copies': {
    check: 'recorder',
    status: 'failed',
    problem: '@actlog/recorder is installed several times: {copies}.',
    fix: useOneVersion,
  },
  'peer-missing': {
    check: 'frameworks',
    status: 'failed',
    problem: '{adapter} needs {peer} {range}, which is not installed.',
    fix: 'Run "{install} {peer}@{wanted}".',
  },
  'peer-out-of-range': {
    check: 'frameworks',
    status: 'failed',
    problem: '{adapter} {version} works with {peer} {range}, and {found} is installed.',
    fix: 'Run "{install} {peer}@{wanted}", or install an {adapter} that works with {peer} {found}.',
  },
  'adapter-missing': {
    check: 'frameworks',
    status: 'warning',
    problem: 'This project uses {framework}, and {adapter} is not installed.',
    fix: 'Run "{install} {adapter} @actlog/recorder", then "actlog init" for the line to add.',
  },
  'check-broken': {
    check: 'any',
    status: 'failed',
    problem: 'This could not be checked: {problem}',
    fix: 'Repeat this. If it stays, report it with the output of "actlog doctor --json".',
  },
} as const satisfies Record<string, FindingText>;
