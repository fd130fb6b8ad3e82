"""Serves a GGUF file by the server in llama.cpp's wheel until standard input ends: llama_server.py FILE PORT KEY."""

import sys

import xllamacpp


def main(file: str, port: str, key: str) -> None:
    """Serve, and print the address once it answers."""
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.model_alias = ["small"]
    params.port, params.api_keys = int(port), [key]
    params.n_ctx, params.n_parallel, params.kv_unified, params.cache_ram_mib = 2048, 2, True, 64
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = params.webui = params.fit_params = False
    params.verbosity = -1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


main(*sys.argv[1:])
