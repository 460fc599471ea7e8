import { binaryName, type Platform } from './platforms.ts'

/** Where a release has its files. */
const REPOSITORY = `${process.env.GITHUB_SERVER_URL ?? 'https://github.com'}/${process.env.GITHUB_REPOSITORY ?? 'OWNER/toolmock'}`

/** The formula of Homebrew for a release, with the checksum of each executable. */
export function formula(version: string, checksums: Readonly<Partial<Record<Platform, string>>>): string {
  const file = (
    platform: Platform,
  ): string => `      url "${REPOSITORY}/releases/download/v${version}/${binaryName(platform)}"
      sha256 "${checksums[platform] ?? ''}"`
  return `class Toolmock < Formula
  desc "Local, stateful mock of an agent tool-access service"
  homepage "${REPOSITORY}"
  version "${version}"
  license "MIT"

  on_macos do
    on_arm do
${file('darwin-arm64')}
    end
    on_intel do
${file('darwin-x64')}
    end
  end

  on_linux do
    on_arm do
${file('linux-arm64')}
    end
    on_intel do
${file('linux-x64')}
    end
  end

  def install
    bin.install Dir["toolmock-*"].first => "toolmock"
    # The file of a release is not signed, and macOS runs no program without a signature.
    system "codesign", "--sign", "-", bin/"toolmock" if OS.mac?
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/toolmock --version")
  end
end
`
}
