# Installs the formula on Linux as Homebrew would, with the few of its methods that the formula uses, and runs its test.
# Usage: ruby try_formula.rb FORMULA PREFIX
require "digest"
require "fileutils"
require "open3"
require "pathname"

module OS
  def self.mac? = false
end

class Pathname
  def install(files) = files.each { |file| FileUtils.cp_r(file, mkpath || self, preserve: true) }
end

class Formula
  class << self
    attr_reader :facts, :check

    %i[desc homepage version license url sha256].each do |name|
      define_method(name) { |value| (@facts ||= {})[name] = value }
    end
    def on_linux = yield
    def on_macos = nil
    def on_intel = (yield if RUBY_PLATFORM.include?("x86_64"))
    def on_arm = (yield if RUBY_PLATFORM.include?("aarch64"))
    def test(&block) = @check = block
  end

  attr_reader :prefix

  def initialize(prefix) = @prefix = Pathname(prefix)
  def bin = prefix/"bin"

  def shell_output(command)
    output, status = Open3.capture2(command)
    raise "#{command} ended with #{status}" unless status.success?
    output
  end

  def assert_match(part, text) = text.include?(part) || raise("no #{part} in #{text}")
end

load ARGV[0]
facts = Pagoda.facts
archive = facts[:url].delete_prefix("file://")
raise "the archive has another hash" unless Digest::SHA256.file(archive).hexdigest == facts[:sha256]
raise "#{facts}" unless facts.values_at(:desc, :homepage, :version, :license).all?
source = "#{ARGV[1]}-source"
FileUtils.mkpath(source)
system("tar", "-xzf", archive, "-C", source, "--strip-components=1", exception: true)
formula = Pagoda.new(ARGV[1])
Dir.chdir(source) { formula.install }
formula.instance_eval(&Pagoda.check)
puts "the formula installs and its test passes"
