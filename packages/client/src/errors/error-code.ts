import type { ErrorCode } from '@actlog/protocol';

/**
 * Code of an error: one of this package, one of the reference profile, `HTTP_<status>` for a response without an error
 * envelope, or another code of the service. The known codes complete in an editor.
 */
export type ActlogErrorCode =
  | 'ABORTED'
  | 'CONNECTION_FAILED'
  | 'EXPORT_INTEGRITY'
  | 'INVALID_ARGUMENT'
  | 'RESPONSE_SHAPE'
  | 'TIMEOUT'
  | 'TLS_FAILED'
  | 'WEBHOOK_VERIFICATION'
  | ErrorCode
  | `HTTP_${number}`
  | (string & {});
