/** Exit codes of the command, the same for every subcommand that does not document others. */
export const exitCodes = {
  /** The command succeeded. */
  ok: 0,
  /** The service rejected the request, or an operation failed. */
  failed: 1,
  /** An argument, an option or an environment variable is missing or invalid. */
  usage: 2,
  /** The service could not be reached. */
  unreachable: 3,
  /** The API key is missing or rejected, or lacks a permission. */
  keyRejected: 4,
  /** The user interrupted the command (128 + SIGINT). */
  interrupted: 130,
  /** The command was terminated by another program (128 + SIGTERM). */
  terminated: 143,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Exit codes as they are shown by `actlog --help`. */
export const exitCodesHelp = `
Exit codes:
  0    success
  1    the service rejected the request, or an operation failed
  2    an argument, an option or a variable is missing or invalid
  3    the service could not be reached
  4    the API key is missing, rejected or lacks a permission
  130  interrupted by Ctrl+C`;
