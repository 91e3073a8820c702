import { createKey } from './create-key.ts';
import type { FindingText } from './finding-text.ts';

/** Problems of Node.js and of the variables. */
export const variableFindings = {
  'node-unsupported': {
    check: 'node',
    status: 'failed',
    problem: 'Node.js {version} is not supported.',
    fix: 'Install Node.js 22.19, 24.11 or newer.',
  },
  'base-url-missing': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL is not set.',
    fix: 'Set it to the address of the service, such as https://actlog.example.com. "actlog init" helps.',
  },
  'base-url-not-loaded': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL is in {file}, but not in the environment.',
    fix: 'Start the program with "node --env-file={file}", and this command with "--env-file {file}".',
  },
  'base-url-quoted': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL starts or ends with a quotation mark.',
    fix: 'Remove the quotation marks. "docker run --env-file" makes them part of the value.',
  },
  'base-url-version': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL ends in /v1.',
    fix: 'Remove /v1: the client adds it.',
  },
  'base-url-insecure': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL would send the API key unencrypted to {host}.',
    fix: 'Use https. On a trusted network, pass allowInsecureHttp to the client, and --allow-insecure-http here.',
  },
  'base-url-parts': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL contains credentials, a query or a fragment.',
    fix: 'Remove them.',
  },
  'base-url-invalid': {
    check: 'base-url',
    status: 'failed',
    problem: 'ACTLOG_BASE_URL is not an http or https URL.',
    fix: 'Set it to an address such as https://actlog.example.com.',
  },
  'api-key-missing': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY is not set.',
    fix: `Set it to an API key of the service. ${createKey}`,
  },
  'api-key-not-loaded': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY is in {file}, but not in the environment.',
    fix: 'Start the program with "node --env-file={file}", and this command with "--env-file {file}".',
  },
  'api-key-quoted': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY starts or ends with a quotation mark.',
    fix: 'Remove the quotation marks. "docker run --env-file" makes them part of the value.',
  },
  'api-key-white-space': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY contains white space or a line break.',
    fix: 'Remove it, or copy the key again.',
  },
  'api-key-not-ascii': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY contains a character that is not ASCII, such as the "…" of an example.',
    fix: 'Copy the key again.',
  },
  'api-key-foreign': {
    check: 'api-key',
    status: 'failed',
    problem: 'ACTLOG_API_KEY is not an actlog key, which starts with al_live_ or al_test_.',
    fix: 'Check that it is not the key of another service.',
  },
} as const satisfies Record<string, FindingText>;
