import type { paths } from './generated/control-types.ts'

type Path = keyof paths
type Method = 'get' | 'put' | 'post' | 'delete'

/** An operation of `spec/control.openapi.yaml` by method and path, such as `GET /clock`. */
export type ControlCallRoute = {
  [P in Path]: { [M in Method]: paths[P][M] extends object ? `${Uppercase<M>} ${P}` : never }[Method]
}[Path]
type OperationOf<R extends ControlCallRoute> = R extends `${infer M} ${infer P extends Path}`
  ? paths[P][Lowercase<M> & Method]
  : never

type JsonOf<Media> = Media extends { readonly content: { readonly 'application/json': infer Json } } ? Json : never
export type ControlResponse<R extends ControlCallRoute> =
  OperationOf<R> extends { readonly responses: infer Responses }
    ? JsonOf<Responses[keyof Responses & (200 | 201)]>
    : never
type Body<R extends ControlCallRoute> =
  OperationOf<R> extends { readonly requestBody?: infer Content } ? JsonOf<NonNullable<Content>> : never
type Parameters<R extends ControlCallRoute, In extends 'path' | 'query'> =
  OperationOf<R> extends { readonly parameters: { readonly [Name in In]?: infer Values } } ? NonNullable<Values> : never

/** Undefined is the same as absent; in plain JavaScript a path parameter may be undefined too. */
type OrUndefined<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

export interface ControlInput<R extends ControlCallRoute> {
  readonly path?: OrUndefined<Parameters<R, 'path'>>
  readonly query?: OrUndefined<Parameters<R, 'query'>>
  readonly body?: OrUndefined<Body<R>>
}

/** Calls an operation of the control API, over HTTP or in this process. Rejects with an error whose message says why. */
export type ControlCall = <R extends ControlCallRoute>(route: R, input?: ControlInput<R>) => Promise<ControlResponse<R>>
