/** Statuses for outcomes without an HTTP response. */
export const responseStatuses = {
  ok: 200,
  accepted: 202,
  invalidArguments: 400,
  denied: 403,
  unknownTool: 404,
  timedOut: 408,
  aborted: 499,
  threw: 500,
} as const;
