import { Code, ConnectError } from '@connectrpc/connect'
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node'
import {
  createAsyncIterable,
  encodeEnvelope,
  readAllBytes,
  type UniversalServerResponse,
} from '@connectrpc/connect/protocol'
import { codeToHttpStatus, errorFromJsonBytes, errorToJsonBytes } from '@connectrpc/connect/protocol-connect'
import { findTrailerError, setTrailerStatus } from '@connectrpc/connect/protocol-grpc'
import { trailerFlag, trailerParse, trailerSerialize } from '@connectrpc/connect/protocol-grpc-web'

export const COMPRESSIONS = [compressionGzip, compressionBrotli]

/** Makes the error that is answered out of one without details. */
export type Completion = (error: ConnectError) => Promise<ConnectError>

/** More than an error takes. */
const MAX_ERROR = 1024 * 1024
/** Flags and length in front of a message. */
export const ENVELOPE = 5

/** What the library refuses itself it answers without details, and some clients read nothing else. */
export async function withErrorDetails(
  response: UniversalServerResponse,
  complete: Completion,
): Promise<UniversalServerResponse> {
  const { status, header, trailer, body } = response
  if (trailer) return { ...response, trailer: (await completeTrailers(trailer, complete)) ?? trailer }
  const type = header?.get('content-type') ?? ''
  if (!header || !body) return response
  if (type.startsWith('application/grpc-web')) {
    return { ...response, body: completeFrames(body, header.get('grpc-encoding'), complete) }
  }
  if (status < 400 || type !== 'application/json') return response
  const octets = await readAllBytes(body, MAX_ERROR)
  const text = await decompressedMessage(octets, header.get('content-encoding'))
  const error = errorFromJsonBytes(text, undefined, new ConnectError('', Code.Internal))
  if (error.details.length > 0) return { ...response, body: createAsyncIterable([octets]) }
  const completed = await complete(error)
  const json = errorToJsonBytes(completed, undefined)
  const headers = new Headers([...header, ...completed.metadata])
  headers.set('content-length', String(json.length))
  headers.delete('content-encoding')
  return { status: codeToHttpStatus(completed.code), header: headers, body: createAsyncIterable([json]) }
}

/** Undefined for the trailers of a success, and of an error with details. */
async function completeTrailers(trailers: Headers, complete: Completion): Promise<Headers | undefined> {
  const error = findTrailerError(trailers)
  return error && error.details.length === 0 ? setTrailerStatus(new Headers(), await complete(error)) : undefined
}

/** gRPC-Web sends the trailers as the last frame of the body. */
async function* completeFrames(
  frames: AsyncIterable<Uint8Array>,
  encoding: string | null,
  complete: Completion,
): AsyncIterable<Uint8Array> {
  for await (const frame of frames) {
    const [flags = 0] = frame
    const isTrailer = (flags & trailerFlag) !== 0
    const octets = frame.subarray(ENVELOPE)
    const trailers =
      isTrailer && trailerParse(await decompressedMessage(octets, flags === trailerFlag ? null : encoding))
    const completed = trailers && (await completeTrailers(trailers, complete))
    yield completed ? encodeEnvelope(trailerFlag, trailerSerialize(completed)) : frame
  }
}

async function decompressedMessage(octets: Uint8Array, encoding: string | null): Promise<Uint8Array<ArrayBuffer>> {
  const compression = COMPRESSIONS.find(({ name }) => name === encoding)
  return compression ? compression.decompress(new Uint8Array(octets), MAX_ERROR) : new Uint8Array(octets)
}
