/** A sign-in of a person. The secret in the cookie is never stored. */
export interface SignInTable {
  tenant_id: number;
  id: string;
  /** SHA-256 of the secret, in hex. */
  digest: string;
  user_id: string;
  /** Name of the person, such as an email address. */
  name: string;
  role: 'viewer' | 'approver' | 'admin';
  /** ID token of the provider, encrypted, to sign out there too; `null` if there is none. */
  id_token: string | null;
  created_ms: number;
  last_used_ms: number;
  /** Time at which it ends at the latest. */
  expires_ms: number;
}
