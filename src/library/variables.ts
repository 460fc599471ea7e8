/** The connection variables (1.1): what the program under test is started with. */
export interface Variables {
  /** Where the mock serves. */
  readonly TOOLMOCK_URL: string
  readonly TOOLMOCK_CLIENT_ID: string
  readonly TOOLMOCK_CLIENT_SECRET: string
  /** The file of the authority to trust, where the mock serves HTTPS with a temporary certificate. */
  readonly NODE_EXTRA_CA_CERTS?: string
}
