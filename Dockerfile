# The demonstration, from nothing:
#   docker build -t compiler-gym . && docker run --rm -it compiler-gym
# Results stay in the container: add -v "$PWD/demo-results:/src/demo-results" to keep them.
FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates make
WORKDIR /src
COPY . .
RUN .github/llvm-source && make setup
CMD ["make", "demo"]
