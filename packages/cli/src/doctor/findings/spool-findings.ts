import type { FindingText } from './finding-text.ts';

/** Problems of the spool folder and of what waits in it. */
export const spoolFindings = {
  'spool-not-a-folder': {
    check: 'spool-folder',
    status: 'failed',
    problem: '{path} is not a folder.',
    fix: 'Remove it, or set ACTLOG_SPOOL_DIR to another folder.',
  },
  'spool-owner': {
    check: 'spool-folder',
    status: 'failed',
    problem: '{path} belongs to another user (uid {uid}).',
    fix: 'Change its owner with "chown {own} {path}" after looking through it, or set ACTLOG_SPOOL_DIR to another folder.',
  },
  'spool-mode': {
    check: 'spool-folder',
    status: 'failed',
    problem: 'Other users can write to {path} (mode {mode}), so that no event is kept there.',
    fix: 'Look through it, then run "chmod 700 {path}".',
  },
  'spool-not-writable': {
    check: 'spool-folder',
    status: 'failed',
    problem: '{path} cannot be written ({code}), so that events are kept in memory only.',
    fix: 'Let this user write to it, or set ACTLOG_SPOOL_DIR to another folder.',
  },
  'spool-files-skipped': {
    check: 'spool-folder',
    status: 'failed',
    problem: 'Files in the spool folder are not delivered: {problem}',
    fix: 'Remove them, or look through them and change their owner to this user and their mode to 600.',
  },
  'spool-full': {
    check: 'spool-size',
    status: 'failed',
    problem:
      'The journal of process {pid} is full ({size} of {limit}), so that its oldest events are being dropped.',
    fix: 'Restore the delivery: the lines above and "actlog spool status" say what stops it. Or raise maxSpoolBytes.',
  },
  'disk-full': {
    check: 'spool-size',
    status: 'failed',
    problem: 'The disk of {path} has {free} of free space left.',
    fix: 'Free space, or set ACTLOG_SPOOL_DIR to a folder on another disk.',
  },
  'waiting-of-ended': {
    check: 'waiting',
    status: 'warning',
    problem: '{count} of processes that have ended wait since {since}.',
    fix: 'Run "actlog spool flush", or start the agent again: its recorder delivers them.',
  },
  'waiting-too-long': {
    check: 'waiting',
    status: 'warning',
    problem: '{count} of running processes ({pids}) wait since {since}.',
    fix: 'Look at the onError of the recorder in that process: it may have another address or key.',
  },
  'waiting-elsewhere': {
    check: 'waiting',
    status: 'warning',
    problem: '{count} wait for another address, key or tenant in {path}.',
    fix: 'Run "actlog spool flush" with the ACTLOG_BASE_URL and ACTLOG_API_KEY, or the ACTLOG_TENANT, of that time.',
  },
  'dead-letters': {
    check: 'dead-letters',
    status: 'warning',
    problem: 'The service rejected {count}, the last at {time}: {reason}.',
    fix: 'Run "actlog spool inspect --dead-letters", fix the cause, then remove the dead-letters files in {path}.',
  },
  'dead-letters-unreadable': {
    check: 'dead-letters',
    status: 'warning',
    problem: '{problem}',
    fix: 'Remove the file, or make it readable for this user only.',
  },
} as const satisfies Record<string, FindingText>;
